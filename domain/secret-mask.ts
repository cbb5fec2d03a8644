/** Shown in place of a stored secret. A client that sends it back keeps the stored secret. */
export const SECRET_MASK = '********';
