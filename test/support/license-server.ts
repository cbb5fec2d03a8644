import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A license server on this machine, for the enclosing `describe`. */
export type LicenseServer = {
  url(): string;
  /** Bodies it was sent, in order. */
  readonly asked: readonly Readonly<Record<string, unknown>>[];
  /** What it answers from now on. */
  answers(status: number, body: object, headers?: Readonly<Record<string, string>>): void;
  /** Cuts every connection from now on, as a server that is away. */
  goesAway(): void;
};

export function useLicenseServer(): LicenseServer {
  const asked: Record<string, unknown>[] = [];
  let answer: { readonly status: number; readonly body: object; readonly headers: Readonly<Record<string, string>> } | undefined;
  let server: Server | undefined;
  before((done) => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        asked.push({ path: request.url, ...(JSON.parse(Buffer.concat(chunks).toString()) as object) });
        if (answer) response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(JSON.stringify(answer.body));
        else request.socket.destroy();
      });
    }).listen(0, '127.0.0.1', done);
  });
  after(() => {
    server?.closeAllConnections();
    server?.close();
  });
  return {
    url: () => `http://127.0.0.1:${(server?.address() as AddressInfo).port}`,
    asked,
    answers(status, body, headers = {}) {
      answer = { status, body, headers };
    },
    goesAway() {
      answer = undefined;
    },
  };
}
