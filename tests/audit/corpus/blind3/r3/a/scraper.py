import sqlite3
import requests
from bs4 import BeautifulSoup

DB = "jobs.db"


def setup():
    con = sqlite3.connect(DB)
    con.execute("CREATE TABLE IF NOT EXISTS jobs (url TEXT UNIQUE, title TEXT)")
    return con


def scrape(page):
    soup = BeautifulSoup(requests.get(f"https://jobs.test/?p={page}").text, "html.parser")
    for a in soup.select("a.job"):
        yield a["href"], a.text.strip()


def main():
    con = setup()
    for page in range(10):
        for url, title in scrape(page):
            con.execute("INSERT OR IGNORE INTO jobs VALUES (?, ?)", (url, title))
    con.commit()


if __name__ == "__main__":
    main()