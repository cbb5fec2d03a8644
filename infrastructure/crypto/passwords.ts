import type { Passwords } from '../../application/ports/passwords.ts';
import { type HashTask, openHashWorkers } from './hash-workers.ts';

export type PasswordAlgorithm = 'bcrypt' | 'argon2id';

export type PasswordsOptions = {
  /** Algorithm of new hashes, setting `PASSWORD_HASH_ALGO`. Default: bcrypt. */
  readonly algorithm?: PasswordAlgorithm;
  /** Cost of bcrypt: 2 to this power rounds. Default: 12. */
  readonly cost?: number;
  /** Memory of argon2id. Default: 46 MiB for one pass, as OWASP recommends; it takes about a third of bcrypt's time. */
  readonly memoryKiB?: number;
  /** Number of hashing threads. Default: the number of cores minus one, at least 1 and at most 4. */
  readonly threads?: number;
};

/** bcrypt ignores the rest of a longer password. */
export const BCRYPT_BYTES = 72;
const ARGON2_PASSES = 1;

/**
 * Hashes passwords with bcrypt or argon2id in worker threads, because a check takes up to 250 ms and must not block the
 * event loop. Once a hash of an older kind was checked, every check takes the time of both kinds. Otherwise the time
 * would reveal which accounts have an old hash, and so that they exist.
 */
export function openPasswords({
  algorithm = 'bcrypt',
  cost = 12,
  memoryKiB = 47_104,
  ...options
}: PasswordsOptions = {}): Passwords & { close(): Promise<void> } {
  const workers = openHashWorkers(options);
  const current = algorithm === 'bcrypt' ? bcryptKind(cost) : argon2Kind(memoryKiB);
  let older: string | undefined;

  return {
    async hash(password) {
      const task: HashTask =
        algorithm === 'bcrypt'
          ? { kind: 'bcrypt', password, cost }
          : { kind: 'argon2id', password, memoryKiB, passes: ARGON2_PASSES };
      return String(await workers.run(task));
    },
    async verify(password, hash) {
      const kind = hash === undefined ? current : kindOf(hash);
      if (kind !== current) older = kind;
      const others = [current, ...(older === undefined ? [] : [older])].filter((one) => one !== kind);
      const matches = await workers.run({ kind: 'compare', password, hash: hash ?? unmatchableHash(kind) });
      for (const other of others) await workers.run({ kind: 'compare', password, hash: unmatchableHash(other) });
      // bcrypt ignores what follows the 72nd byte or a NUL, so such a password must not match.
      const truncated =
        kind.startsWith('$2') && (Buffer.byteLength(password) > BCRYPT_BYTES || password.includes('\u0000'));
      return hash !== undefined && matches === true && !truncated;
    },
    isOutdated: (hash) => kindOf(hash) !== current,
    close: workers.close,
  };
}

/**
 * Algorithm and cost of a hash as its prefix. The parameters of argon2id are sorted, because their order may differ.
 */
function kindOf(hash: string): string {
  if (!hash.startsWith('$argon2')) return hash.slice(0, '$2b$12'.length);
  const [, algorithm, version, parameters = ''] = hash.split('$');
  return `$${algorithm ?? ''}$${version ?? ''}$${parameters.split(',').toSorted().join(',')}`;
}

function bcryptKind(cost: number): string {
  return `$2b$${cost.toString().padStart(2, '0')}`;
}

function argon2Kind(memoryKiB: number): string {
  return `$argon2id$v=19$m=${memoryKiB},p=1,t=${ARGON2_PASSES}`;
}

/** A hash that no password matches. Checking it takes as long as checking a real hash of the kind. */
function unmatchableHash(kind: string): string {
  return kind.startsWith('$argon2')
    ? `${kind}$${'A'.repeat(22)}$${'A'.repeat(43)}`
    : `${kind}$abcdefghijklmnopqrstuu${'0'.repeat(31)}`;
}
