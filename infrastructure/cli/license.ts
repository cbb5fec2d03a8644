import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { Capability } from '../../domain/platform/license.ts';
import { CAPABILITIES, graceUntil, phaseOf } from '../../domain/platform/license.ts';
import { BUILT_IN_LICENSE_KEY } from '../license/built-in-key.ts';
import { issueLicense } from '../license/issue-license.ts';
import { createLicenseVerifier } from '../license/verify-license.ts';

export const usage = `usage: palimpsest license <command> [options]

  keygen
      makes a key pair: a JSON line {public_key, private_key}; SVC_LICENSE_PUBLIC_KEY takes the first
  issue --private-key <file> --subject <who> (--capabilities <a,b,…> | --all) [--days <n>] [--plan <name>] [--link <name=url>]…
      signs a license for SVC_LICENSE_KEY; 30 days unless told otherwise; the file holds what keygen printed, or its private_key alone
  inspect <token> [--public-key <base64url>]
      verifies a license and tells what it says; exit code 1 when it does not verify; the built-in key unless told otherwise

capabilities: ${CAPABILITIES.join(' ')}
`;

const DAY_MS = 86_400_000;

/** `palimpsest license keygen|issue|inspect` (spec 4 A, license): licenses for development. @returns 0, 1 for a license that does not verify, 2 for arguments that are none */
export async function run([command, ...args]: readonly string[]): Promise<number> {
  switch (command) {
    case 'keygen':
      return keygen();
    case 'issue':
      return issue(args);
    case 'inspect':
      return inspect(args);
    case 'help':
    case '--help':
    case '-h':
      process.stdout.write(usage);
      return 0;
    default:
      return misused(command === undefined ? undefined : `there is no command ${command}`);
  }
}

function keygen(): number {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  print({ public_key: publicKey.export({ format: 'jwk' }).x ?? '', private_key: privateKey.export({ format: 'jwk' }).d ?? '' });
  return 0;
}

async function issue(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'private-key': { type: 'string' }, subject: { type: 'string' }, capabilities: { type: 'string' }, all: { type: 'boolean', default: false },
      days: { type: 'string', default: '30' }, plan: { type: 'string' }, link: { type: 'string', multiple: true, default: [] },
    },
  });
  const { 'private-key': file, subject, all, plan } = values;
  if (file === undefined || subject === undefined || subject === '') return misused('--private-key and --subject are needed');
  if (all === (values.capabilities !== undefined)) return misused('name either --capabilities or --all');
  const names = all ? CAPABILITIES : (values.capabilities ?? '').split(',').map((name) => name.trim()).filter((name) => name !== '');
  const unknown = names.filter((name) => !isCapability(name));
  if (unknown.length > 0) return misused(`unknown capability: ${unknown.join(', ')}`);
  const days = Number(values.days);
  if (!/^-?\d{1,5}$/.test(values.days)) return misused('--days takes a whole number');
  const links: Record<string, string> = {};
  for (const link of values.link) {
    const [, name, url] = /^([^=]+)=(https?:\/\/.+)$/i.exec(link) ?? [];
    if (name === undefined || url === undefined) return misused('--link takes name=https://…');
    links[name] = url;
  }
  const now = new Date();
  const token = await issueLicense({
    privateKey: privateKeyOf(await readFile(file, 'utf8')), subject, issuedAt: now, expiresAt: new Date(now.getTime() + days * DAY_MS),
    capabilities: names.filter(isCapability), ...(plan === undefined ? {} : { plan }), links,
  });
  process.stdout.write(`${token}\n`);
  return 0;
}

async function inspect(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: { 'public-key': { type: 'string', default: BUILT_IN_LICENSE_KEY } } });
  const [token, ...more] = positionals;
  if (token === undefined || more.length > 0) return misused('inspect takes one token');
  const verify = await createLicenseVerifier({ publicKey: values['public-key'] });
  const license = await verify(token.trim());
  if (!license) {
    process.stderr.write('license: verification failed\n');
    return 1;
  }
  const { subject, plan, capabilities, links, issuedAt, expiresAt } = license;
  print({
    subject, plan, capabilities, links, state: phaseOf(license, new Date()),
    issued_at: issuedAt.toISOString(), expires_at: expiresAt.toISOString(), grace_until: graceUntil(license).toISOString(),
  });
  return 0;
}

function isCapability(name: string): name is Capability {
  return CAPABILITIES.some((known) => known === name);
}

/** The output of keygen, or the private key alone. @throws Error when it is neither */
function privateKeyOf(text: string): string {
  const key = /"private_key":\s*"([^"]+)"/.exec(text)?.[1] ?? text.trim();
  if (!/^[A-Za-z0-9_-]{43}$/.test(key)) throw new Error('the file holds no private key as keygen prints it');
  return key;
}

function print(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

function misused(why: string | undefined): number {
  process.stderr.write(`${why === undefined ? '' : `license: ${why}\n\n`}${usage}`);
  return 2;
}
