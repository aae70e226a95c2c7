CREATE TABLE IF NOT EXISTS fx_rates (
    day DATE NOT NULL,
    currency CHAR(3) NOT NULL,
    rate NUMERIC,
    PRIMARY KEY (day, currency)
);
INSERT INTO fx_rates (day, currency, rate)
SELECT day, currency, rate FROM incoming_rates;
