import type { MailQueue, ReservedMail } from '../../application/ports/mail-queue.ts';
import type { Database } from '../postgres/database.ts';

/** The mail queue in the table `operational.mail_queue`. */
export function createMailQueue({ database }: { readonly database: Database }): MailQueue {
  return {
    async add({ id, content }) {
      await database.execute(
        'insert into operational.mail_queue (id, content) values ($1, $2)',
        [id, content],
        'mail-queue-add',
      );
    },
    reserve: ({ limit, reservedMs }) =>
      database.query<ReservedMail>(
        `update operational.mail_queue q
         set attempts = attempts + 1, due_at = now() + make_interval(secs => $2::double precision / 1000)
         where id in (select id from operational.mail_queue where due_at <= now() order by due_at
           limit $1 for update skip locked)
         returning id, attempts as attempt, content`,
        [limit, reservedMs],
      ),
    async remove({ id, attempt }) {
      await database.execute('delete from operational.mail_queue where id = $1 and attempts = $2', [id, attempt]);
    },
    async postpone({ id, attempt }, delayMs) {
      await database.execute(
        'update operational.mail_queue set due_at = now() + make_interval(secs => $3::double precision / 1000) where id = $1 and attempts = $2',
        [id, attempt, delayMs],
      );
    },
  };
}
