/** Slow password hashes: bcrypt or argon2id. */
export type Passwords = {
  /** @throws `unavailable` when too many calls are waiting */
  hash(password: string): Promise<string>;
  /**
   * Verifies a password against a hash of either algorithm. Without a hash (unknown account) it takes the same time and
   * returns false.
   * @throws `unavailable` when too many calls are waiting
   */
  verify(password: string, hash: string | undefined): Promise<boolean>;
  /** Whether the hash has another algorithm or cost than new hashes. */
  isOutdated(hash: string): boolean;
};
