// Reads a `Load` as JSON from standard input, sends its requests for some seconds and prints a `LoadResult` as JSON.
// Runs in a separate process on its own core.
import autocannon from 'autocannon';
import { readFileSync } from 'node:fs';

/** A load. Each connection sends the requests in turn. */
export type Load = {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly requests: readonly {
    readonly method: 'GET' | 'POST' | 'PUT';
    readonly path: string;
    readonly body?: string;
  }[];
};

/**
 * `perSecond`: requests per second. `p50`, `p99`: latencies in milliseconds. `refused`, `failed`: numbers of requests.
 */
export type LoadResult = {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly refused: number;
  readonly failed: number;
};

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
      // Replace `<n>` by a new number in each request.
      ...(body?.includes('<n>')
        ? { setupRequest: (request: autocannon.Request) => ({ ...request, body: body.replace('<n>', String(sent++)) }) }
        : {}),
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
