import type { Passwords } from '../../application/ports/passwords.ts';
import type { HashTask } from './hash-workers.ts';
import { createHashWorkers } from './hash-workers.ts';

export type PasswordAlgorithm = 'bcrypt' | 'argon2id';

export type PasswordsOptions = {
  /** Of new hashes (`PASSWORD_HASH_ALGO`). Default bcrypt. */
  readonly algorithm?: PasswordAlgorithm;
  /** Rounds of bcrypt as a power of two. Default 12. */
  readonly cost?: number;
  /** Memory of argon2id. Default 46 MiB, one pass: what OWASP asks for, at about the time of a third of bcrypt's. */
  readonly memoryKiB?: number;
  /** Threads that hash. Default: one less than the machine's cores, 1 to 4. */
  readonly threads?: number;
};

/** bcrypt looks at no more of a password. */
export const BCRYPT_BYTES = 72;
const ARGON2_PASSES = 1;

/**
 * bcrypt and argon2id (spec 1, session rules) in worker threads: a sign-in takes up to 250 ms of a core, which the event loop must not feel.
 * Once a hash of an older kind was met, every check takes the time of both kinds: else the time told which accounts are old, and so that they exist.
 */
export function createPasswords({ algorithm = 'bcrypt', cost = 12, memoryKiB = 47_104, ...options }: PasswordsOptions = {}): Passwords & { close(): Promise<void> } {
  const workers = createHashWorkers(options);
  const current = algorithm === 'bcrypt' ? bcryptKind(cost) : argon2Kind(memoryKiB);
  let older: string | undefined;

  return {
    async hash(password) {
      const task: HashTask = algorithm === 'bcrypt' ? { kind: 'bcrypt', password, cost } : { kind: 'argon2id', password, memoryKiB, passes: ARGON2_PASSES };
      return String(await workers.run(task));
    },
    async verify(password, hash) {
      const kind = hash === undefined ? current : kindOf(hash);
      if (kind !== current) older = kind;
      const others = [current, ...(older === undefined ? [] : [older])].filter((one) => one !== kind);
      const matches = await workers.run({ kind: 'compare', password, hash: hash ?? hashOfNobody(kind) });
      for (const other of others) await workers.run({ kind: 'compare', password, hash: hashOfNobody(other) });
      // bcrypt would take whatever follows for granted.
      const cut = kind.startsWith('$2') && (Buffer.byteLength(password) > BCRYPT_BYTES || password.includes('\u0000'));
      return hash !== undefined && matches === true && !cut;
    },
    isOutdated: (hash) => kindOf(hash) !== current,
    close: workers.close,
  };
}

/** What two hashes of one algorithm and cost begin with; the parameters of argon2id may come in any order. */
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

/** A hash of the kind that no password has, so that a check of it takes the time of a real one. */
function hashOfNobody(kind: string): string {
  return kind.startsWith('$argon2') ? `${kind}$${'A'.repeat(22)}$${'A'.repeat(43)}` : `${kind}$abcdefghijklmnopqrstuu${'0'.repeat(31)}`;
}
