import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { client, text } from '../../infrastructure/cli/demo/http.ts';
import type { Service } from './http-workloads.ts';
import type { Figure } from './report.ts';

/** Milliseconds from sending a create to receiving its webhook request, one create at a time. Includes the append. */
export async function webhookLatency({
  service,
  token,
  label,
  most,
  rounds = 200,
}: {
  readonly service: Service;
  readonly token: string;
  readonly label: string;
  readonly most: number;
  readonly rounds?: number;
}): Promise<Figure> {
  const waiting = new Map<number, (at: number) => void>();
  const receiver = createServer((request, response) => {
    const at = performance.now();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.end();
      const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { n: number } };
      waiting.get(data.n)?.(at);
    });
  });
  await new Promise<void>((resolve) => {
    receiver.listen(0, '127.0.0.1', resolve);
  });
  const admin = client(service.adminUrl, { authorization: `Bearer ${token}` });
  await admin('POST', '/api/admin/schemas', { name: 'ping', fields: [{ name: 'n', field_type: 'integer' }] });
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  await admin('POST', '/api/admin/webhooks', { name: 'latency', url, events: ['after_create'], schemas: ['ping'] });
  const key = text(
    await admin('POST', '/api/admin/api-keys', { name: `latency ${label}`, roles: ['editor'], scopes: ['content:*'] }),
    'raw_key',
  );
  const content = client(service.contentUrl, { 'x-api-key': key });
  const times: number[] = [];
  for (let n = 0; n < rounds; n += 1) {
    const arrived = new Promise<number>((resolve) => waiting.set(n, resolve));
    const sent = performance.now();
    await content('POST', '/api/v1/content/ping', { data: { n } });
    times.push((await arrived) - sent);
  }
  receiver.closeAllConnections();
  receiver.close();
  const sorted = times.slice(rounds / 10).toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? NaN;
  return {
    name: `create to webhook request, ${label}`,
    value: at(0.5),
    unit: 'ms',
    target: { most },
    note: `p99 ${at(0.99).toFixed(1)} ms, measured from the client's request`,
  };
}
