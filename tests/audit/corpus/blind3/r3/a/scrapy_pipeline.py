import psycopg2


class PostgresPipeline:
    def open_spider(self, spider):
        self.conn = psycopg2.connect("dbname=s")
        self.cur = self.conn.cursor()

    def process_item(self, item, spider):
        self.cur.execute("SELECT 1 FROM items WHERE url = %s", (item["url"],))
        if self.cur.fetchone():
            return item
        self.cur.execute("INSERT INTO items (url, title) VALUES (%s, %s)", (item["url"], item["title"]))
        self.conn.commit()
        return item

    def close_spider(self, spider):
        self.conn.close()