import ipaddr from 'ipaddr.js';
import { areRoleNames } from '../../domain/identity/roles.ts';
import { type TrustedIssuerPolicy, parseTrustedIssuerPolicies } from '../../domain/identity/trusted-issuer.ts';
import { ownValue } from '../../domain/own-value.ts';
import type { Parsed, Parser } from './setting.ts';

const ok = <T>(value: T): Parsed<T> => ({ ok: true, value });
const bad = (remedy: string): Parsed<never> => ({ ok: false, remedy });

/** A text of at least this many characters. */
export function textOfAtLeast(characters: number): Parser<string> {
  return {
    kind: 'text',
    parse: (value) =>
      value.length >= characters ? ok(value) : bad(`make it at least ${String(characters)} characters long`),
  };
}

/** Any text. */
export const text: Parser<string> = { kind: 'text', parse: ok };

export const boolean: Parser<boolean> = {
  off: false,
  kind: 'true or false',
  schema: { type: 'boolean' },
  parse: (value) =>
    value === 'true' || value === '1'
      ? ok(true)
      : value === 'false' || value === '0'
        ? ok(false)
        : bad('set it to true or false'),
};

/** An integer from `least` to `most`, both included. */
export function integer(least: number, most: number = Number.MAX_SAFE_INTEGER): Parser<number> {
  const bounds =
    most === Number.MAX_SAFE_INTEGER
      ? `a whole number of at least ${least}`
      : `a whole number from ${least} to ${most}`;
  return {
    kind: 'integer',
    schema: { type: 'integer', minimum: least, ...(most === Number.MAX_SAFE_INTEGER ? {} : { maximum: most }) },
    parse: (value) =>
      /^-?\d{1,15}$/.test(value) && Number(value) >= least && Number(value) <= most
        ? ok(Number(value))
        : bad(`set it to ${bounds}`),
  };
}

/** Days of retention; 0 or less keeps everything forever. */
export const retentionDays: Parser<number> = {
  kind: 'days; 0 or less: forever',
  schema: { type: 'integer' },
  parse: (value) =>
    /^-?\d{1,5}$/.test(value)
      ? ok(Number(value))
      : bad('set it to a whole number of days, 0 or less to keep everything'),
};

/** A number from `least` to `most`, both included. */
export function number(least: number, most: number): Parser<number> {
  return {
    kind: 'number',
    schema: { type: 'number', minimum: least, maximum: most },
    parse: (value) =>
      /^\d+(\.\d+)?$/.test(value) && Number(value) >= least && Number(value) <= most
        ? ok(Number(value))
        : bad(`set it to a number from ${least} to ${most}`),
  };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** A duration such as `1h`, `1m30s`, `250ms` or `0`; the parsed value is in milliseconds. */
export const duration: Parser<number> = {
  kind: 'duration',
  unit: 'ms',
  parse: (value) => {
    if (value === '0') return ok(0);
    if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(value)) return bad('set it to a duration such as 30s, 5m or 1h');
    let total = 0;
    for (const [, amount, unit] of value.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g))
      total += Number(amount) * (ownValue(UNITS, unit ?? '') ?? 0);
    return ok(total);
  },
};

/** One of the allowed words. */
export function oneOf<const T extends string>(...allowed: readonly T[]): Parser<T> {
  return {
    kind: allowed.join(', '),
    schema: { enum: [...allowed] },
    parse: (value) => {
      const found = allowed.find((word) => word === value);
      return found === undefined ? bad(`set it to one of ${allowed.join(', ')}`) : ok(found);
    },
  };
}

const LIST = { type: 'array', items: { type: ['string', 'number'] } } as const;

/** Comma-separated texts; each is trimmed, empty ones are dropped. */
export const list: Parser<readonly string[]> = {
  off: [],
  kind: 'comma-separated list',
  schema: LIST,
  parse: (value) => ok(split(value)),
};

/** Comma-separated words, each one of the allowed words; at least one. */
export function listOf<const T extends string>(...allowed: readonly T[]): Parser<readonly T[]> {
  return {
    kind: `comma-separated list of ${allowed.join(', ')}`,
    schema: { type: 'array', items: { enum: [...allowed] } },
    parse: (value) => {
      const words = split(value);
      const found = allowed.filter((word) => words.includes(word));
      return words.length > 0 && words.every((word) => allowed.some((one) => one === word))
        ? ok(found)
        : bad(`list some of ${allowed.join(', ')}, separated by commas`);
    },
  };
}

/** Comma-separated addresses and CIDR ranges. */
export const networks: Parser<readonly string[]> = {
  off: [],
  kind: 'comma-separated CIDRs or addresses',
  schema: LIST,
  parse: (value) =>
    split(value).every((entry) => ipaddr.isValid(entry) || ipaddr.isValidCIDR(entry))
      ? ok(split(value))
      : bad('list addresses or CIDR ranges such as 10.0.0.0/8, separated by commas'),
};

/** A JSON array of policies for trusted issuers. */
export const trustedIssuerPolicies: Parser<readonly TrustedIssuerPolicy[]> = {
  off: [],
  kind: 'JSON array',
  schema: { type: 'array', items: { type: 'object' } },
  parse: (value) => {
    const parsed = parseTrustedIssuerPolicies(value);
    return 'problem' in parsed ? bad(parsed.problem) : ok(parsed.policies);
  },
};

/** Comma-separated `host:port`. */
export const hostPorts: Parser<readonly string[]> = {
  kind: 'comma-separated host:port',
  schema: LIST,
  parse: (value) =>
    split(value).length > 0 && split(value).every((entry) => isHostPort(entry))
      ? ok(split(value))
      : bad('list host:port pairs, separated by commas'),
};

const HOST_ENTRY = /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?$/;

/** Comma-separated host names, each with or without a port; the parsed names are in lower case. */
export const hosts: Parser<readonly string[]> = {
  off: [],
  kind: 'comma-separated host names',
  schema: LIST,
  parse: (value) =>
    split(value).every((entry) => HOST_ENTRY.test(entry))
      ? ok(split(value).map((entry) => entry.toLowerCase()))
      : bad('list host names such as login.example.org, separated by commas'),
};

/** Comma-separated names of roles. */
export const roleNames: Parser<readonly string[]> = {
  off: [],
  kind: 'comma-separated roles',
  schema: LIST,
  parse: (value) =>
    areRoleNames(split(value))
      ? ok(split(value))
      : bad('list roles of 1 to 64 letters, digits or _ . : -, separated by commas'),
};

/** `host:port`. */
export const hostPort: Parser<string> = {
  kind: 'host:port',
  parse: (value) => (isHostPort(value) ? ok(value) : bad('set it to host:port, such as 0.0.0.0:3001')),
};

/** An absolute URL with one of the schemes, without query and fragment; trailing slashes are dropped. */
export function url(...schemes: readonly string[]): Parser<string> {
  return {
    kind: 'URL',
    parse: (value) => {
      const parsed = URL.canParse(value) ? new URL(value) : undefined;
      const good =
        parsed !== undefined &&
        schemes.includes(parsed.protocol.slice(0, -1)) &&
        parsed.search === '' &&
        parsed.hash === '';
      return good
        ? ok(value.replace(/\/+$/, ''))
        : bad(`set it to an absolute ${schemes.join(' or ')} URL without query or fragment`);
    },
  };
}

/** One of the words, or a text that starts with one of the schemes. */
export function connection(words: readonly string[], schemes: readonly string[]): Parser<string> {
  const allowed = [...words.map((word) => `\`${word}\``), ...schemes.map((scheme) => `${scheme}://…`)].join(', ');
  return {
    kind: 'connection string',
    parse: (value) =>
      words.includes(value) || schemes.some((scheme) => value.startsWith(`${scheme}://`))
        ? ok(value)
        : bad(`set it to one of ${allowed}`),
  };
}

function isHostPort(value: string): boolean {
  const port = /^(?:\[[0-9A-Fa-f:.]+\]|[^\s:[\]]*):(\d{1,5})$/.exec(value)?.[1];
  return port !== undefined && Number(port) <= 65_535;
}

function split(value: string): readonly string[] {
  return value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
