// Sends one workload for some seconds and prints what came back as JSON. Runs in a process of its own, on a core of its own.
import autocannon from 'autocannon';
import { readFileSync } from 'node:fs';

/** A workload: the requests are taken in turn. */
export type Load = {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly requests: readonly { readonly method: 'GET' | 'POST' | 'PUT'; readonly path: string; readonly body?: string }[];
};

/** Rates per second, latencies in milliseconds. */
export type LoadResult = { readonly perSecond: number; readonly p50: number; readonly p99: number; readonly refused: number; readonly failed: number };

if (process.argv[1]?.endsWith('load.ts')) {
  const load = JSON.parse(readFileSync(0, 'utf8')) as Load;
  let sent = 0;
  const result = await autocannon({
    url: load.url,
    connections: load.connections,
    duration: load.seconds,
    headers: { ...load.headers },
    requests: load.requests.map(({ method, path, body }) => ({
      method,
      path,
      ...(body === undefined ? {} : { body }),
      // `<n>` becomes another number in every request.
      ...(body?.includes('<n>') ? { setupRequest: (request: autocannon.Request) => ({ ...request, body: body.replace('<n>', String(sent++)) }) } : {}),
    })),
  });
  const answer: LoadResult = {
    perSecond: result.requests.total / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    refused: result.non2xx,
    failed: result.errors + result.timeouts,
  };
  console.log(JSON.stringify(answer));
}
