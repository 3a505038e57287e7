"""The zoo: equations as data, each fitted clean and noisy, in variants that users meet; one table of how it went."""
