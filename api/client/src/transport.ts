import { PalimpsestError } from './errors.ts';

/** One request. `body` is sent as JSON. */
export type ClientRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path and query below the base address. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
};

/** A successful response: its JSON body, undefined for an empty one. */
export type ClientResponse = { readonly body: unknown; readonly headers: Headers };

export type TransportOptions = {
  /** Base address of the Content API. */
  readonly url: string;
  /** An API key. Takes precedence over `token`. */
  readonly apiKey?: string | undefined;
  /** A session token, or a function that returns one and is called before each request. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Used instead of the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** How often to repeat a request that certainly had no effect, or is safe to repeat. Default 3. */
  readonly retries?: number | undefined;
  /** Position of a write that reads must see. Each write of this client raises it. */
  readonly position?: string | undefined;
};

export type Transport = {
  /** @throws PalimpsestError when the service refuses the request; the error of `fetch` when no response arrives */
  readonly request: (requested: ClientRequest) => Promise<ClientResponse>;
  /** Returns the response with its body unread. */
  readonly open: (requested: ClientRequest) => Promise<Response>;
  /** Position of the latest write of this client. */
  readonly position: () => string | undefined;
};

/** Longest wait between two attempts, in milliseconds. */
const MAX_WAIT_MS = 10_000;

/**
 * Sends requests with the credential and the position of the last write, which makes reads see it. Repeats a request
 * when the service sends `Retry-After` and the request had no effect or is safe to repeat.
 */
export function createTransport(options: TransportOptions): Transport {
  const base = options.url.replace(/\/+$/, '');
  const send = options.fetch ?? globalThis.fetch.bind(globalThis);
  const retries = options.retries ?? 3;
  let position = options.position;

  async function credential(): Promise<Record<string, string>> {
    if (options.apiKey !== undefined) return { 'X-API-Key': options.apiKey };
    const token = typeof options.token === 'function' ? await options.token() : options.token;
    return token === undefined ? {} : { Authorization: `Bearer ${token}` };
  }

  async function open({ method, path, body, headers = {}, signal }: ClientRequest): Promise<Response> {
    for (let tried = 0; ; tried += 1) {
      const response = await send(base + path, {
        method,
        headers: {
          Accept: 'application/json',
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...(method === 'GET' && position !== undefined ? { 'X-Min-Position': position } : {}),
          ...(await credential()),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal ? { signal } : {}),
      });
      const written = response.headers.get('x-commit-position');
      if (written !== null && (position === undefined || written > position)) position = written;
      if (response.ok) return response;
      const refused = new PalimpsestError({
        status: response.status,
        body: await bodyOf(response),
        requestId: response.headers.get('x-request-id') ?? undefined,
      });
      const wait = response.headers.get('retry-after');
      if (tried >= retries || wait === null || !mayRepeat(refused, method, headers)) throw refused;
      await pause(Math.min(MAX_WAIT_MS, (Number(wait) || 1) * 1000), signal);
    }
  }

  return {
    open,
    request: async (requested) => {
      const response = await open(requested);
      return { body: await bodyOf(response), headers: response.headers };
    },
    position: () => position,
  };
}

/**
 * Whether the request may be sent again. A refusal by the service means that the request had no effect, except for
 * `outcome_unknown`. A 503 of a proxy (`invalid_answer`) does not: the proxy may have forwarded the request.
 */
function mayRepeat(
  { status, code }: PalimpsestError,
  method: string,
  headers: Readonly<Record<string, string>>,
): boolean {
  const repeatable = method === 'GET' || 'Idempotency-Key' in headers;
  if (status === 409) return code === 'idempotency_in_progress';
  return status === 503 && (repeatable || (code !== 'outcome_unknown' && code !== 'invalid_answer'));
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return undefined;
  try {
    const body: unknown = JSON.parse(text);
    return body;
  } catch {
    if (response.ok) throw new PalimpsestError({ status: response.status, body: text });
    return text;
  }
}

/** Waits. @throws the signal's reason when the signal aborts */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const ended = (): void => {
      clearTimeout(timer);
      reject(abortReason(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', ended);
      resolve();
    }, milliseconds);
    if (signal?.aborted === true) ended();
    else signal?.addEventListener('abort', ended, { once: true });
  });
}

function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('the request was ended');
}
