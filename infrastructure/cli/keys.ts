import { existsSync } from 'node:fs';
import { DEFAULT_JWT_KEY_PATH } from '../configuration/load-settings.ts';
import { readSettings } from '../configuration/read-settings.ts';
import { startLayers } from '../configuration/start-layers.ts';
import { rotateSigningKeys } from '../crypto/rotate-signing-keys.ts';
import { type SigningKeys, activeKeys, readSigningKeys } from '../crypto/signing-keys.ts';
import { secretsFile } from './embedded.ts';
import { printJson } from './print-json.ts';
import { namesDatabase, quickstartDefaults, quickstartDirectory } from './quickstart-defaults.ts';

const USAGE = `usage: palimpsest keys <command>

  rotate   adds a new signing key to the file at JWT_KEY_PATH; running processes load it within seconds,
           and the previous key verifies until the last token that it signed has expired
  list     prints the keys that verify; the first one signs
`;

/**
 * Production allows tokens of at most one hour. The lifetime may be set in the console, where this command does not see
 * it.
 */
const LONGEST_SECONDS = 3_600;
/** Running processes sign with the previous key until they reload the file. */
const SPARE_SECONDS = 60;

/**
 * `palimpsest keys rotate|list`: prints one JSON line for each key, without its private part.
 * @returns 2 for wrong arguments
 */
export async function run([command, ...rest]: readonly string[]): Promise<number> {
  if ((command !== 'rotate' && command !== 'list') || rest.length > 0) {
    process.stderr.write(USAGE);
    return 2;
  }
  const { path, expirySeconds } = keyFile();
  const now = new Date();
  const keys =
    command === 'rotate'
      ? await rotateSigningKeys({ path, now, overlapSeconds: Math.max(expirySeconds, LONGEST_SECONDS) + SPARE_SECONDS })
      : await readSigningKeys({ path });
  if (!keys) throw new Error(`there is no key file at ${path}: the first start of the service creates it`);
  printKeys(keys, now);
  return 0;
}

/**
 * The key file and token lifetime as the service on this machine reads them; the quickstart's when one exists and
 * `DATABASE_URL` is unset.
 */
function keyFile(): { readonly path: string; readonly expirySeconds: number } {
  const hasQuickstart = !namesDatabase(process.env) && existsSync(secretsFile(quickstartDirectory(process.env)));
  const { layers } = startLayers(process.env, hasQuickstart ? quickstartDefaults(process.env) : {});
  const { settings, problems } = readSettings(layers);
  const [wrong] = problems.filter(({ variable }) => ['JWT_KEY_PATH', 'JWT_EXPIRY_SECS'].includes(variable));
  if (wrong) throw new Error(`${wrong.variable}: ${wrong.remedy}`);
  return { path: settings.jwtKeyPath ?? DEFAULT_JWT_KEY_PATH, expirySeconds: settings.jwtExpirySeconds };
}

function printKeys(keys: SigningKeys, now: Date): void {
  activeKeys(keys, now).forEach(({ kid, retires_at }, n) => {
    printJson({ kid, signs: n === 0, retires_at: retires_at ?? null });
  });
}
