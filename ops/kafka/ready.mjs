// Usage: node ops/kafka/ready.mjs <host:port>. Exits with 0 if the broker completes a client handshake and has a
// controller.
import kafkajs from 'kafkajs';

const [address = '127.0.0.1:19092'] = process.argv.slice(2);
const kafka = new kafkajs.Kafka({
  clientId: 'ready',
  brokers: [address],
  logLevel: kafkajs.logLevel.NOTHING,
  connectionTimeout: 1_000,
  requestTimeout: 2_000,
  retry: { retries: 0 },
});
const admin = kafka.admin();
try {
  await admin.connect();
  const { brokers, controller } = await admin.describeCluster();
  process.exitCode = brokers.length > 0 && controller !== null ? 0 : 1;
} catch {
  process.exitCode = 1;
} finally {
  await admin.disconnect();
}
