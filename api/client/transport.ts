import { PalimpsestError } from './errors.ts';

/** One request. `body` is sent as JSON. */
export type Asked = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path and query below the base address. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
};

/** What was answered: a success whose body is JSON, or none. */
export type Answered = { readonly body: unknown; readonly headers: Headers };

export type TransportOptions = {
  /** Base address of the Content API. */
  readonly url: string;
  /** An API key; instead of `token`. */
  readonly apiKey?: string | undefined;
  /** A session token, or where one comes from: asked before each request. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** How often a request is sent again that was surely not carried out, or that may be repeated. Default 3. */
  readonly retries?: number | undefined;
  /** Position of a write that reads must have seen; what this client writes raises it. */
  readonly position?: string | undefined;
};

export type Transport = {
  /** @throws PalimpsestError for a refusal; what `fetch` throws where nothing was answered */
  readonly request: (asked: Asked) => Promise<Answered>;
  /** The answer itself, its body not read. */
  readonly open: (asked: Asked) => Promise<Response>;
  /** Position of the latest write that this client knows of. */
  readonly position: () => string | undefined;
};

/** Longest wait between two tries, in milliseconds. */
const MAX_WAIT_MS = 10_000;

/** Sends requests: credential, read-your-writes by position, and repeats where the service says when (spec 4, general rules). */
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

  async function open({ method, path, body, headers = {}, signal }: Asked): Promise<Response> {
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
      const refused = new PalimpsestError({ status: response.status, body: await bodyOf(response), requestId: response.headers.get('x-request-id') ?? undefined });
      const wait = response.headers.get('retry-after');
      if (tried >= retries || wait === null || !mayRepeat(refused, method, headers)) throw refused;
      await pause(Math.min(MAX_WAIT_MS, (Number(wait) || 1) * 1000), signal);
    }
  }

  return {
    open,
    request: async (asked) => {
      const response = await open(asked);
      return { body: await bodyOf(response), headers: response.headers };
    },
    position: () => position,
  };
}

/** A refusal of the service's own says that nothing was done, but for one whose outcome is unknown; who else answered may have passed it on. */
function mayRepeat({ status, code }: PalimpsestError, method: string, headers: Readonly<Record<string, string>>): boolean {
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

/** @throws the signal's reason when it ends the wait */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const ended = (): void => {
      clearTimeout(timer);
      reject(reasonOf(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', ended);
      resolve();
    }, milliseconds);
    if (signal?.aborted === true) ended();
    else signal?.addEventListener('abort', ended, { once: true });
  });
}

function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('the request was ended');
}
