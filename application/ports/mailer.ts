/** A mail to one person. */
export type Mail = {
  /** One address, as returned by `normaliseEmail`. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string | undefined;
  /** The mail is dropped if it has not been sent by then. Default: one day after `send`. */
  readonly until?: Date | undefined;
  /**
   * The mail is processed like any other and dropped before sending, so that response times do not reveal whether an
   * account exists.
   */
  readonly withheld?: boolean | undefined;
};

/** Sends mail. Logs and tables never contain a mail in plain text. */
export type Mailer = {
  /**
   * Accepts a mail. Once the promise resolves, the mail survives a crash. A background role delivers it later with
   * bounded retries, at least once.
   */
  send(mail: Mail): Promise<void>;
  /**
   * False when mail is not sent: `SMTP_HOST` is unset and the environment is not development. A mail sent anyway is
   * dropped with a log line.
   */
  readonly configured: boolean;
};
