import csv
import torch
import pandas as pd


def train(model, loader, opt, epochs):
    hist = []
    for e in range(epochs):
        for x, y in loader:
            loss = model(x, y)
            loss.backward()
            opt.step()
        hist.append({"epoch": e, "loss": float(loss)})
        with open("metrics.csv", "a") as f:
            csv.writer(f).writerow([e, float(loss)])
        torch.save(model.state_dict(), f"ckpt/{e}.pt")
    pd.DataFrame(hist).to_csv("history.csv", mode="w", index=False)
    pd.DataFrame(hist).to_parquet("history.parquet")