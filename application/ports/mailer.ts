/** A mail to one person. */
export type Mail = {
  /** One address, as `normaliseEmail` answers it. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string | undefined;
  /** From then on the mail is of no use: what has not been sent yet is dropped. Default: a day after `send`. */
  readonly until?: Date | undefined;
  /** The mail takes the same way and is dropped at its end, so that the time of an answer does not tell whether there is anybody to write to. */
  readonly withheld?: boolean | undefined;
};

/** Sends mail. Nothing of a mail stands in clear in a log or a table (rule 11). */
export type Mailer = {
  /**
   * Takes a mail on: when it resolves, the mail survives a crash. A relay delivers it afterwards, off the path of the request, with bounded
   * retries, and at least once.
   */
  send(mail: Mail): Promise<void>;
  /** False where no mail leaves: neither `SMTP_HOST` is set nor is it development. What is sent all the same is dropped, with a line in the log. */
  readonly configured: boolean;
};
