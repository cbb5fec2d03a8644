import { DEFAULT_JWT_KEY_PATH } from '../configuration/load-settings.ts';
import { readSettings } from '../configuration/read-settings.ts';
import { startLayers } from '../configuration/start-layers.ts';
import { rotateSigningKeys } from '../crypto/rotate-signing-keys.ts';
import type { SigningKeys } from '../crypto/signing-keys.ts';
import { inForce, readSigningKeys } from '../crypto/signing-keys.ts';
import { existsSync } from 'node:fs';
import { quickstartDefaults, quickstartDirectory } from './quickstart-defaults.ts';
import { secretsFile } from './embedded.ts';

const USAGE = `usage: palimpsest keys <command>

  rotate   puts a new signing key in front of those in the file at JWT_KEY_PATH; running processes take it in within seconds,
           the former key verifies until the last token that it signed has expired
  list     the keys that verify, the one that signs first
`;

/** Tokens of one hour are the longest that production allows; the console may have set more than this machine's environment knows. */
const LONGEST_SECONDS = 3_600;
/** Processes that share the file go on signing with the former key until they look at it. */
const SPARE_SECONDS = 60;

/** `palimpsest keys rotate|list` (spec 1, session rules): one JSON line a key, without its private half. @returns 2 for arguments that are none */
export async function run([command, ...rest]: readonly string[]): Promise<number> {
  if ((command !== 'rotate' && command !== 'list') || rest.length > 0) {
    process.stderr.write(USAGE);
    return 2;
  }
  const { path, expirySeconds } = keyFile();
  const now = new Date();
  const keys = command === 'rotate'
    ? await rotateSigningKeys({ path, now, overlapSeconds: Math.max(expirySeconds, LONGEST_SECONDS) + SPARE_SECONDS })
    : await readSigningKeys({ path });
  if (!keys) throw new Error(`there is no key file at ${path}: the first start makes it`);
  print(keys, now);
  return 0;
}

/** As the service on this machine would find it: beside a quickstart that of the quickstart. */
function keyFile(): { readonly path: string; readonly expirySeconds: number } {
  const beside = process.env['DATABASE_URL'] === undefined && existsSync(secretsFile(quickstartDirectory(process.env)));
  const { layers } = startLayers(process.env, beside ? quickstartDefaults(process.env) : {});
  const { settings, problems } = readSettings(layers);
  const [wrong] = problems.filter(({ variable }) => ['JWT_KEY_PATH', 'JWT_EXPIRY_SECS'].includes(variable));
  if (wrong) throw new Error(`${wrong.variable}: ${wrong.remedy}`);
  return { path: settings.jwtKeyPath ?? DEFAULT_JWT_KEY_PATH, expirySeconds: settings.jwtExpirySeconds };
}

function print(keys: SigningKeys, now: Date): void {
  inForce(keys, now).forEach(({ kid, retires_at }, n) => {
    process.stdout.write(`${JSON.stringify({ kid, signs: n === 0, retires_at: retires_at ?? null })}\n`);
  });
}
