import type { Mail, Mailer } from '../../application/ports/mailer.ts';

/** A mailer that keeps the mails for assertions, except withheld ones, which a mailer does not send. */
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
