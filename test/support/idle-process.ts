// A process that does nothing until it is killed.
process.send?.('ready');
setInterval(() => undefined, 60_000);
