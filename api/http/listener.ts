import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer, STATUS_CODES } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../../domain/errors.ts';
import { refusal } from '../../domain/errors.ts';
import { errorAnswer } from './error-answer.ts';

/** What serves the requests. `stopping` is aborted when the listener begins to close: answers without an end of their own end then. */
export type App = (request: IncomingMessage, response: ServerResponse, stopping: AbortSignal) => void;

export type StartListenerOptions = {
  /** What `createApi` made. */
  readonly app: App;
  /** `host:port`; port 0 takes a free one; `[::1]:3001` for IPv6. */
  readonly address: string;
  /** PEM texts; both listeners serve TLS 1.2 or later with them (`TLS_CERT_FILE`, `TLS_KEY_FILE`). */
  readonly tls?: TlsPair | undefined;
};

/** PEM texts. */
export type TlsPair = { readonly cert: string; readonly key: string };

export type Listener = {
  /** Base address, such as `http://127.0.0.1:3001`. An unspecified host is shown as `localhost`. */
  readonly url: string;
  readonly port: number;
  /** Serves new connections with another certificate; on a plain listener nothing happens. @throws when the pair is none */
  renew(tls: TlsPair): void;
  /**
   * Stops accepting, ends endless answers at once, lets other requests in flight finish, closes idle connections; after `deadlineMs` (default
   * 10 s) breaks what is left.
   * Resolves when every connection is gone. Safe to call twice.
   */
  close(options?: { readonly deadlineMs?: number }): Promise<void>;
};

/**
 * Listens. Rejects when the address is taken or no address.
 * Refusals that Node itself makes (no HTTP, headers too large) are JSON as well.
 */
export async function startListener({ app, address, tls }: StartListenerOptions): Promise<Listener> {
  const limits = { maxHeaderSize: 16_384, headersTimeout: 20_000, requestTimeout: 120_000, keepAliveTimeout: 65_000, connectionsCheckingInterval: 5_000 };
  const server: Server | TlsServer = tls ? createTlsServer({ ...limits, ...tls, minVersion: 'TLSv1.2' }) : createServer(limits);
  let closing: Promise<void> | undefined;
  const stopping = new AbortController();
  // As many as there are endless answers.
  setMaxListeners(0, stopping.signal);
  const serve = (request: IncomingMessage, response: ServerResponse & { req: IncomingMessage }) => {
    if (closing) response.shouldKeepAlive = false;
    app(request, response, stopping.signal);
  };
  server.on('request', serve);
  // With a listener here Node leaves the decision to the reader of the body.
  server.on('checkContinue', serve);
  server.on('checkExpectation', (_request, response) => {
    const { status, text, headers } = rawRefusal('expectation_failed');
    response.writeHead(status, headers).end(text);
  });
  server.on('clientError', refuseClient);

  const { host, port } = parseAddress(address);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const bound = addressOf(server);
  return {
    url: `${tls ? 'https' : 'http'}://${shownHost(host)}:${bound.port}`,
    port: bound.port,
    renew: (pair) => {
      if (server instanceof TlsServer) server.setSecureContext({ ...pair, minVersion: 'TLSv1.2' });
    },
    close: ({ deadlineMs = 10_000 } = {}) => {
      closing ??= close(server, deadlineMs);
      stopping.abort();
      return closing;
    },
  };
}

/** @throws Error when the text is no `host:port`. */
export function parseAddress(address: string): { readonly host: string; readonly port: number } {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw new Error(`not an address of the form host:port: ${address}`);
  return { host: match[1] ?? (match[2] === '' || match[2] === undefined ? '0.0.0.0' : match[2]), port };
}

async function close(server: Server, deadlineMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  // A kept-alive connection whose last answer is out counts as idle only afterwards.
  const sweep = setInterval(() => {
    server.closeIdleConnections();
  }, 25);
  const deadline = setTimeout(() => {
    server.closeAllConnections();
  }, deadlineMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(deadline);
}

const CLIENT_ERRORS: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

function refuseClient(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const { status, text, headers } = rawRefusal(CLIENT_ERRORS[error.code ?? ''] ?? 'bad_request');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${text}`);
}

/** Whether an answer has begun on this socket: a second one would garble it. Node's own default looks at the same place. */
function isAnswering(socket: Duplex): boolean {
  const answer: unknown = Reflect.get(socket, '_httpMessage');
  return typeof answer === 'object' && answer !== null && 'headersSent' in answer && answer.headersSent === true;
}

function rawRefusal(code: ErrorCode): { status: number; text: string; headers: Record<string, string> } {
  const { status, body } = errorAnswer(refusal(code));
  const text = JSON.stringify(body);
  const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': String(Buffer.byteLength(text)), 'X-Request-Id': randomUUID(), Connection: 'close' };
  return { status, text, headers };
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the listener has no address');
  return address;
}

function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
