print("kalij")
