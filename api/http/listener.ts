import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { type IncomingMessage, STATUS_CODES, type Server, type ServerResponse, createServer } from 'node:http';
import { Server as TlsServer, createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ErrorCode, refusal } from '../../domain/errors.ts';
import { ownValue } from '../../domain/own-value.ts';
import { errorResponse } from './error-response.ts';

/** Serves one request. `stopping` is aborted when the listener begins to close; endless responses end then. */
export type App = (request: IncomingMessage, response: ServerResponse, stopping: AbortSignal) => void;

export type StartListenerOptions = {
  /** The request handler, from `createApi`. */
  readonly app: App;
  /** `host:port`; `[::1]:3001` for IPv6. Port 0 selects a free port. */
  readonly address: string;
  /**
   * Certificate and key (`TLS_CERT_FILE`, `TLS_KEY_FILE`): the listener serves TLS 1.2 or later. Undefined: plain HTTP.
   */
  readonly tls?: TlsPair | undefined;
};

/** A certificate and its private key, as PEM texts. */
export type TlsPair = { readonly cert: string; readonly key: string };

export type Listener = {
  /** Base address, such as `http://127.0.0.1:3001`. An unspecified host is shown as `localhost`. */
  readonly url: string;
  readonly port: number;
  /** Uses another certificate for new connections. Does nothing without TLS. @throws Error when the pair is invalid */
  renew(tls: TlsPair): void;
  /**
   * Stops accepting connections, ends endless responses at once, lets other requests finish and closes idle
   * connections. Breaks the remaining connections after `deadlineMs` (default 10,000). Resolves when every connection
   * is closed. Safe to call twice.
   */
  close(options?: { readonly deadlineMs?: number }): Promise<void>;
};

/**
 * Starts a listener. Requests that Node itself refuses (not HTTP, headers too large) get a JSON response as well.
 * @throws Error when the address is in use or is not of the form `host:port`
 */
export async function startListener({ app, address, tls }: StartListenerOptions): Promise<Listener> {
  const limits = {
    maxHeaderSize: 16_384,
    headersTimeout: 20_000,
    requestTimeout: 120_000,
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: 5_000,
  };
  const server: Server | TlsServer = tls
    ? createTlsServer({ ...limits, ...tls, minVersion: 'TLSv1.2' })
    : createServer(limits);
  let closing: Promise<void> | undefined;
  const stopping = new AbortController();
  // Every endless response adds a listener.
  setMaxListeners(0, stopping.signal);
  const serve = (request: IncomingMessage, response: ServerResponse & { req: IncomingMessage }) => {
    if (closing) response.shouldKeepAlive = false;
    app(request, response, stopping.signal);
  };
  server.on('request', serve);
  // With this listener Node does not respond to `Expect: 100-continue` itself; `readBody` does.
  server.on('checkContinue', serve);
  server.on('checkExpectation', (_request, response) => {
    const { status, text, headers } = rawRefusal('expectation_failed');
    response.writeHead(status, headers).end(text);
  });
  server.on('clientError', refuseClient);

  const { host, port } = parseListenAddress(address);
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

/** Parses `host:port`; an empty host is `0.0.0.0`. @throws Error for any other text */
export function parseListenAddress(address: string): { readonly host: string; readonly port: number } {
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
  // A keep-alive connection becomes idle only some time after its last response was sent.
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
  if (error.code === 'ECONNRESET' || !socket.writable || isResponding(socket)) {
    socket.destroy();
    return;
  }
  const { status, text, headers } = rawRefusal(ownValue(CLIENT_ERRORS, error.code ?? '') ?? 'bad_request');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${text}`);
}

/**
 * Whether a response has begun on this socket: a second one would corrupt it. Node's default handler checks the same
 * property.
 */
function isResponding(socket: Duplex): boolean {
  const message: unknown = Reflect.get(socket, '_httpMessage');
  return typeof message === 'object' && message !== null && 'headersSent' in message && message.headersSent === true;
}

function rawRefusal(code: ErrorCode): { status: number; text: string; headers: Record<string, string> } {
  const { status, body } = errorResponse(refusal(code));
  const text = JSON.stringify(body);
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(text)),
    'X-Request-Id': randomUUID(),
    Connection: 'close',
  };
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
