import { lookup as systemLookup } from 'node:dns/promises';
import { withDeadline } from '../../application/concurrency/with-deadline.ts';
import { codeOf } from '../../domain/code-of.ts';

/** Returns all addresses of a name as text. */
export type Lookup = (host: string) => Promise<readonly string[]>;

export type Resolver = {
  /** Returns all addresses of a name. @throws ResolveError */
  resolve(host: string): Promise<readonly string[]>;
};

/** A name was not resolved. `isLocal`: no name server answered, which says nothing about the endpoint. */
export class ResolveError extends Error {
  readonly isLocal: boolean;

  constructor(message: string, isLocal: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = 'ResolveError';
    this.isLocal = isLocal;
  }
}

export type ResolverOptions = {
  readonly lookup?: Lookup | undefined;
  /** Default: 2,000. */
  readonly timeoutMs?: number | undefined;
  /** How long addresses are cached: at most 5,000, so that a changed name is noticed soon. Default: 5,000. */
  readonly cacheMs?: number | undefined;
};

const MAX_CACHED = 10_000;

/**
 * Creates a resolver with a timeout and a small cache of successful lookups. Concurrent lookups of one name share one
 * query.
 */
export function createResolver({ lookup = viaSystem, timeoutMs = 2_000, cacheMs = 5_000 }: ResolverOptions): Resolver {
  const cache = new Map<string, { readonly answer: Promise<readonly string[]>; readonly until: number }>();
  const keepMs = Math.min(cacheMs, 5_000);

  async function lookUp(host: string): Promise<readonly string[]> {
    try {
      const answer = await withDeadline(lookup(host), timeoutMs, () => {
        throw new ResolveError('name lookup timed out', true);
      });
      if (answer.length === 0) throw new ResolveError('host not found', false);
      return answer;
    } catch (error) {
      if (error instanceof ResolveError) throw error;
      throw new ResolveError(isTemporary(error) ? 'name lookup failed' : 'host not found', isTemporary(error), error);
    }
  }

  return {
    resolve(host) {
      const now = performance.now();
      const cached = cache.get(host);
      if (cached && cached.until > now) return cached.answer;
      if (cache.size >= MAX_CACHED) cache.clear();
      const answer = lookUp(host);
      cache.set(host, { answer, until: now + Math.max(keepMs, 0) });
      answer.catch(() => cache.delete(host));
      return answer;
    },
  };
}

async function viaSystem(host: string): Promise<readonly string[]> {
  return (await systemLookup(host, { all: true, verbatim: true })).map(({ address }) => address);
}

/** Codes of failures of this system or of its name servers. */
const TEMPORARY = ['EAI_AGAIN', 'EAI_MEMORY', 'EAI_SYSTEM', 'EMFILE'];

function isTemporary(error: unknown): boolean {
  return TEMPORARY.includes(codeOf(error) ?? '');
}
