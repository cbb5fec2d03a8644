import qs from 'qs';
import { refusal } from '../../domain/errors.ts';

/** A parsed query: nested objects without prototypes. Its values are text; the route's schema coerces them. */
export type Query = { [name: string]: string | Query | (string | Query)[] | undefined };

const MAX_PARAMETERS = 200;
const MAX_DEPTH = 5;
/**
 * A field may be named `constructor` or `prototype`: the parsed objects inherit neither. Only the path through both is
 * refused.
 */
const FORBIDDEN = /(?:^|[[\].])(?:__proto__|constructor[[\].]+prototype)(?:$|[[\].])/;
const SUSPICIOUS = /__proto__|constructor|prototype|%/;

/**
 * Parses a query string; `filters[a][$gt]=1` nests. At most 200 parameters, five levels and 200 array elements.
 * @throws `invalid_query_parameter` past a limit, and for broken percent-encoding, a NUL or a name that addresses a
 * prototype
 */
export function parseQuery(text: string): Query {
  if (text === '') return empty();
  if (SUSPICIOUS.test(text)) checkParts(text);
  try {
    const parsed: Query = qs.parse(text, {
      depth: MAX_DEPTH,
      strictDepth: true,
      parameterLimit: MAX_PARAMETERS,
      arrayLimit: MAX_PARAMETERS,
      throwOnLimitExceeded: true,
      plainObjects: true,
    });
    return parsed;
  } catch (error) {
    // qs throws only a RangeError, when a limit is exceeded.
    throw refusal('invalid_query_parameter', { cause: error });
  }
}

function empty(): Query {
  const none: Query = {};
  Object.setPrototypeOf(none, null);
  return none;
}

function checkParts(text: string): void {
  for (const part of text.split('&', MAX_PARAMETERS + 1)) {
    const equals = part.indexOf('=');
    const name = decode(equals < 0 ? part : part.slice(0, equals));
    const value = equals < 0 ? '' : decode(part.slice(equals + 1));
    if (name === undefined || name.includes('\0') || FORBIDDEN.test(name)) throw refusal('invalid_query_parameter');
    if (value === undefined || value.includes('\0'))
      throw refusal('invalid_query_parameter', { message: `invalid query parameter: ${name.slice(0, 100)}` });
  }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
