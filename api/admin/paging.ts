import { Type } from '@sinclair/typebox';

/** The query of lists that return a plain array. */
export const PageQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 25 }),
  offset: Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 0 }),
  count: Type.Boolean({ default: false }),
});

/** The headers of a page: with `count=true` the total number of items in `X-Total-Count`. */
export async function pageHeaders(
  { count }: { readonly count: boolean },
  total: () => Promise<number>,
): Promise<Readonly<Record<string, string>>> {
  return count ? { 'X-Total-Count': String(await total()) } : {};
}
