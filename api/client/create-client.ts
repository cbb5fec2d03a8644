import type { Content } from './content.ts';
import { contentOf } from './content.ts';
import type { TransportOptions } from './transport.ts';
import { createTransport } from './transport.ts';
import type { AnyData } from './types.ts';

export type ClientOptions = TransportOptions & {
  /**
   * Whether creations carry an idempotency key of their own, so that they may be sent again. Default: everywhere but on pages of another origin, where
   * the service lets the header in only when `CORS_ALLOW_HEADERS` names it.
   */
  readonly idempotencyKeys?: boolean;
};

/** A client of the Content API. */
export type Client<Types> = {
  /** The entries of a content type, typed by `Types`, or by what is given: `content<Article>('article')`. */
  readonly content: {
    <Name extends keyof Types & string>(name: Name): Content<Member<Types[Name], 'data'>, Member<Types[Name], 'input'>>;
    <Data = AnyData, Input = Partial<Data>>(name: string): Content<Data, Input>;
  };
  /** Position of the latest write that this client knows of; another client takes it as `position`. */
  readonly position: () => string | undefined;
};

type Member<Type, Name extends string> = Type extends { readonly [name in Name]: infer Value } ? Value : AnyData;

/** Makes a client for one credential. Its reads see its own writes. It needs nothing but `fetch`: browsers and Node from 20 on. */
export function createClient<Types extends object = object>(options: ClientOptions): Client<Types> {
  const transport = createTransport(options);
  const keys = options.idempotencyKeys ?? !isForeignPage(options.url);
  const newKey = keys ? (): string => globalThis.crypto.randomUUID() : undefined;
  return {
    content: <Data, Input>(name: string): Content<Data, Input> => contentOf<Data, Input>(transport, name, newKey),
    position: transport.position,
  };
}

/** Whether this is a page of another origin than the service. */
function isForeignPage(url: string): boolean {
  const place: unknown = Reflect.get(globalThis, 'location');
  return typeof place === 'object' && place !== null && 'origin' in place && place.origin !== new URL(url).origin;
}
