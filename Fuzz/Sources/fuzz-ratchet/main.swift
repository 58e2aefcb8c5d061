import FuzzDriver

fuzz(.ratchet)
