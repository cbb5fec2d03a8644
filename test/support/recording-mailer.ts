import type { Mail, Mailer } from '../../application/ports/mailer.ts';

/** A mailer that keeps what was really to be sent, for the test to look at. */
export function recordingMailer(): Mailer & { readonly mails: readonly Mail[] } {
  const mails: Mail[] = [];
  return {
    mails,
    configured: true,
    send(mail) {
      if (!mail.withheld) mails.push(mail);
      return Promise.resolve();
    },
  };
}
