// Child process of tests: waits until the test kills it.
process.send?.('ready');
setInterval(() => undefined, 60_000);
