/** Slow hashes of passwords (bcrypt, cost 12; spec 1, session rules). */
export type Passwords = {
  hash(password: string): Promise<string>;
  /** With no hash (unknown account) it takes the same time and answers false. */
  verify(password: string, hash: string | undefined): Promise<boolean>;
};
