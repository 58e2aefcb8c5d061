import FuzzDriver

fuzz(.queryEvaluation)
