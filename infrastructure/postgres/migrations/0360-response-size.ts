import type { Migration } from './migration.ts';

/** The function that ends a statement whose response is too large. */
export const responseSize: Migration = {
  id: '0360-response-size',
  sql: `
    create function operational.refuse_large_response(fitting bigint) returns text
    language plpgsql parallel safe as $$
    begin
      raise exception 'the response is too large' using errcode = 'PL413', detail = fitting::text;
    end $$;
    comment on function operational.refuse_large_response is 'Ends a statement whose response is too large; the detail of the error is the number of entries that fit, or -1';
  `,
};
