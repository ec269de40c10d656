"""Find the contacts of feet with the ground: where the ground is, which soles are on it, and which of them carry.

An estimator is one file with one function from `Evidence` to `FootContacts`, as `height.py` and `stance.py` are;
`CONTACTS` in `curation/config.py` names them. What a contact ratio means is in `core/foot_contacts.py`.
"""
