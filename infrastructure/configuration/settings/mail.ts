import { integer, text } from '../parsers.ts';
import { optional, setting } from '../setting.ts';

/** The mail relay (spec 1, magic-link sign-in 5; spec 4 A, sign-in details). */
export const mail = {
  smtpHost: optional('SMTP_HOST', text, 'Mail relay; unset: in development every mail is a file in `<SVC_DATA_DIR>/outbox/`, in production none is sent.'),
  smtpPort: setting('SMTP_PORT', integer(1, 65_535), 587, 'Port of the relay: TLS from the first byte on 465, elsewhere STARTTLS, which is demanded before a password leaves the machine.'),
  smtpFrom: optional('SMTP_FROM', text, 'Sender of mails: an address, or `Name <address>`; set together with the relay.'),
  smtpUser: optional('SMTP_USER', text, 'User at the relay, when it needs one.'),
  smtpPassword: optional('SMTP_PASS', text, 'Password of that user.', { secret: true }),
} as const;
