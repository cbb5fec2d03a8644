import { type Content, contentOf } from './content.ts';
import { type TransportOptions, createTransport } from './transport.ts';
import type { AnyData } from './types.ts';

export type ClientOptions = TransportOptions & {
  /**
   * Whether each creation carries a generated idempotency key, so that the client can send it again. Default: true,
   * except on pages of another origin, where the service accepts the header only if `CORS_ALLOW_HEADERS` names it.
   */
  readonly idempotencyKeys?: boolean;
};

/** A client of the Content API. */
export type Client<Types> = {
  /** The entries of a content type, typed by `Types` or by explicit type arguments: `content<Article>('article')`. */
  readonly content: {
    <Name extends keyof Types & string>(name: Name): Content<Member<Types[Name], 'data'>, Member<Types[Name], 'input'>>;
    <Data = AnyData, Input = Partial<Data>>(name: string): Content<Data, Input>;
  };
  /** Position of the latest write of this client. Pass it to another client as `position` to read that write there. */
  readonly position: () => string | undefined;
};

type Member<Type, Name extends string> = Type extends { readonly [name in Name]: infer Value } ? Value : AnyData;

/**
 * Creates a client for one credential. Its reads see its own writes. It needs `fetch`: a browser, or Node 20 or newer.
 */
export function createClient<Types extends object = object>(options: ClientOptions): Client<Types> {
  const transport = createTransport(options);
  const keys = options.idempotencyKeys ?? !isForeignPage(options.url);
  const newKey = keys ? (): string => globalThis.crypto.randomUUID() : undefined;
  return {
    content: <Data, Input>(name: string): Content<Data, Input> => contentOf<Data, Input>(name, { transport, newKey }),
    position: transport.position,
  };
}

/** Whether the code runs on a web page whose origin is not the service's. */
function isForeignPage(url: string): boolean {
  const place: unknown = Reflect.get(globalThis, 'location');
  return typeof place === 'object' && place !== null && 'origin' in place && place.origin !== new URL(url).origin;
}
