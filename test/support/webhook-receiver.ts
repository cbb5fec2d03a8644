import { type IncomingHttpHeaders, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received request. `at`: milliseconds of `performance.now()`. */
export type Received = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly at: number;
};

/** Answers a request. `count` includes this request. */
export type Answerer = (request: Received, response: ServerResponse, count: number) => void;

/** An HTTP server on the loopback interface that keeps its requests. */
export type WebhookReceiver = {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly Received[];
  /** Resolves with the requests when `count` have arrived. @throws Error after `timeoutMs` (default 10 s) */
  waitFor(count: number, timeoutMs?: number): Promise<readonly Received[]>;
  /** Replaces how the receiver answers; it answers 200 with an empty body by default. */
  answer(answerer: Answerer): void;
  close(): Promise<void>;
};

/** Starts a receiver on a free port of `host` (default 127.0.0.1). */
export async function startReceiver({
  answer,
  host = '127.0.0.1',
}: { readonly answer?: Answerer; readonly host?: string } = {}): Promise<WebhookReceiver> {
  const requests: Received[] = [];
  const waiting = new Set<() => void>();
  let behave: Answerer = answer ?? ((_request, response) => response.writeHead(200).end());
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const entry = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        at: performance.now(),
      };
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
          reject(new Error(`the receiver received ${requests.length} of ${count} requests`));
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
