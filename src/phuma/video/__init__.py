"""From a film to the motion of the person in it: frames, landmarks of a pose network, lifting to a body in the world."""
