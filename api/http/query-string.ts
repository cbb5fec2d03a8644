import qs from 'qs';
import { refusal } from '../../domain/errors.ts';

/** Parsed query: nested objects without prototypes, values still text. */
export type Query = { [name: string]: string | Query | (string | Query)[] | undefined };

const MAX_PARAMETERS = 200;
const MAX_DEPTH = 5;
/** `constructor` and `prototype` by themselves are names a field may have; objects made here have neither. */
const FORBIDDEN = /(?:^|[[\].])(?:__proto__|constructor[[\].]+prototype)(?:$|[[\].])/;
const SUSPICIOUS = /__proto__|constructor|prototype|%/;

/**
 * Reads a query string: `filters[a][$gt]=1` nests. At most 200 parameters, five levels and 200 array elements.
 * @throws `invalid_query_parameter` past a limit, on broken percent-encoding, a NUL, or a name that reaches for a prototype.
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
    // qs throws RangeError past its limits and nothing else.
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
    if (value === undefined || value.includes('\0')) throw refusal('invalid_query_parameter', { message: `invalid query parameter: ${name.slice(0, 100)}` });
  }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
