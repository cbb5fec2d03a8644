import type { Passwords } from '../../application/ports/passwords.ts';
import { createBcryptWorkers } from './bcrypt-workers.ts';

export type PasswordsOptions = {
  /** Rounds as a power of two. Default 12. */
  readonly cost?: number;
  /** Threads that hash. Default: one less than the machine's cores, 1 to 4. */
  readonly threads?: number;
};

/** A hash that no password has, made at the same cost as real ones, so that unknown accounts take the same time. */
const NO_SALT = 'abcdefghijklmnopqrstuu';
const NO_HASH = '0'.repeat(31);

/** bcrypt (spec 1, session rules) in worker threads: a sign-in takes 250 ms of a core, which the event loop must not feel. */
export function createPasswords({ cost = 12, ...options }: PasswordsOptions = {}): Passwords & { close(): Promise<void> } {
  const workers = createBcryptWorkers(options);
  const dummy = `$2b$${cost.toString().padStart(2, '0')}$${NO_SALT}${NO_HASH}`;
  return {
    async hash(password) {
      return String(await workers.run({ kind: 'hash', password, cost }));
    },
    async verify(password, hash) {
      const matches = await workers.run({ kind: 'compare', password, hash: hash ?? dummy });
      return hash !== undefined && matches === true;
    },
    close: workers.close,
  };
}
