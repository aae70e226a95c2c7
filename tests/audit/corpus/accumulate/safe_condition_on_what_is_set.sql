UPDATE orders SET amount = amount / 100, unit = 'eur' WHERE unit = 'cent';
