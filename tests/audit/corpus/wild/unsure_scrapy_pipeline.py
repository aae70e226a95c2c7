import psycopg2
class PostgresPipeline:
    def open_spider(self, spider):
        self.connection = psycopg2.connect(host="x")
        self.cur = self.connection.cursor()
    def close_spider(self, spider):
        self.cur.close()
    def process_item(self, item, spider):
        self.cur.execute("insert into quotes_content(content,author) values(%s,%s)", (item["content"], item["author"]))  # expect: SW103 note
        self.connection.commit()
        return item
