-- expect: SW105
UPDATE prices SET price = price * 1.05 WHERE region = 'EU';
