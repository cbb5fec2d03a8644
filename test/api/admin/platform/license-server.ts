import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A license server on the loopback interface. */
export type LicenseServer = {
  url(): string;
  /** Bodies of the received requests with their `path`, in order. */
  readonly requests: readonly Readonly<Record<string, unknown>>[];
  /** Answers all further requests with this response. */
  answerWith(status: number, body: object, headers?: Readonly<Record<string, string>>): void;
  /**
   * Closes the connection of all further requests without a response, like an unreachable server. This is the default.
   */
  disconnect(): void;
};

/** Starts a license server for the enclosing `describe`. */
export function useLicenseServer(): LicenseServer {
  const requests: Record<string, unknown>[] = [];
  let answer:
    { readonly status: number; readonly body: object; readonly headers: Readonly<Record<string, string>> } | undefined;
  let server: Server | undefined;
  before((done) => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        requests.push({ path: request.url, ...(JSON.parse(Buffer.concat(chunks).toString()) as object) });
        if (answer)
          response
            .writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
            .end(JSON.stringify(answer.body));
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
    requests,
    answerWith(status, body, headers = {}) {
      answer = { status, body, headers };
    },
    disconnect() {
      answer = undefined;
    },
  };
}
