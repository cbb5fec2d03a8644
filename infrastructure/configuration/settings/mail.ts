import { integer, oneOf, text } from '../parsers.ts';
import { optional, setting } from '../setting.ts';

/** The mail server. */
export const mail = {
  smtpHost: optional(
    'SMTP_HOST',
    text,
    'SMTP server. Unset: development writes each mail to a file in `<SVC_DATA_DIR>/outbox/`, production sends none.',
  ),
  smtpPort: setting(
    'SMTP_PORT',
    integer(1, 65_535),
    587,
    'Port of the SMTP server. 465 uses TLS from the start; other ports use STARTTLS.',
  ),
  smtpStartTls: setting(
    'SMTP_STARTTLS',
    oneOf('required', 'optional'),
    'required',
    'Whether mail is sent only over STARTTLS, on other ports than 465. `optional`: also without TLS, where the server does not offer STARTTLS; a password is sent to another machine over TLS only.',
  ),
  smtpFrom: optional('SMTP_FROM', text, 'Sender of mails: an address, or `Name <address>`. Required with `SMTP_HOST`.'),
  smtpUser: optional('SMTP_USER', text, 'User name at the SMTP server.'),
  smtpPassword: optional('SMTP_PASS', text, 'Password of `SMTP_USER`.', { secret: true }),
} as const;
