/** A value that survives `JSON.parse(JSON.stringify(value))` unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A plain JSON object. */
export type JsonObject = { readonly [key: string]: Json };
