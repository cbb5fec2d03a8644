/** Slow hashes of passwords: bcrypt or argon2id (spec 1, session rules). */
export type Passwords = {
  /** @throws `unavailable` when too many wait */
  hash(password: string): Promise<string>;
  /** Hashes of either kind. With no hash (unknown account) it takes the same time and answers false. @throws `unavailable` when too many wait */
  verify(password: string, hash: string | undefined): Promise<boolean>;
  /** Whether new hashes are of another algorithm or cost. */
  isOutdated(hash: string): boolean;
};
