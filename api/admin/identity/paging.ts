import { Type } from '@sinclair/typebox';

/** Query of lists that answer a bare array (spec 4, general rules). */
export const Page = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 25 }),
  offset: Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 0 }),
  count: Type.Boolean({ default: false }),
});

/** With `count=true` the full count in `X-Total-Count`. */
export async function pageHeaders({ count }: { readonly count: boolean }, total: () => Promise<number>): Promise<Readonly<Record<string, string>>> {
  return count ? { 'X-Total-Count': String(await total()) } : {};
}
