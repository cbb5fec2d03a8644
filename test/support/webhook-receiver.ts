import type { IncomingHttpHeaders, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it came in. */
export type Received = { readonly method: string; readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string; readonly at: number };

/** How a receiver answers; the default is 200 with an empty body. */
export type Answerer = (request: Received, response: ServerResponse, count: number) => void;

/** A real HTTP server on loopback that keeps what it got. */
export type WebhookReceiver = {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly Received[];
  /** Resolves with the requests as soon as there are `count`. @throws after `timeoutMs` (default 10 s) */
  waitFor(count: number, timeoutMs?: number): Promise<readonly Received[]>;
  /** Replaces the behaviour. */
  answer(answerer: Answerer): void;
  close(): Promise<void>;
};

/** Starts a receiver on a free port of `host` (default 127.0.0.1). */
export async function startReceiver({ answer, host = '127.0.0.1' }: { readonly answer?: Answerer; readonly host?: string } = {}): Promise<WebhookReceiver> {
  const requests: Received[] = [];
  const waiting = new Set<() => void>();
  let behave: Answerer = answer ?? ((_request, response) => response.writeHead(200).end());
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const entry = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString('utf8'), at: performance.now() };
      requests.push(entry);
      behave(entry, response, requests.length);
      for (const check of waiting) check();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    port,
    requests,
    answer: (answerer) => {
      behave = answerer;
    },
    waitFor: (count, timeoutMs = 10_000) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (requests.length < count) return;
          clearTimeout(timer);
          waiting.delete(check);
          resolve(requests);
        };
        const timer = setTimeout(() => {
          waiting.delete(check);
          reject(new Error(`the receiver got ${requests.length} of ${count} requests`));
        }, timeoutMs);
        waiting.add(check);
        check();
      }),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
