"""From a film to the motion of the person in it: frames, landmarks of a pose network, a body lifted to the world."""
