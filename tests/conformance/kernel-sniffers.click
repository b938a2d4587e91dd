// What Click's kernel module shows to sniffers ends here.
InfiniteSource(LIMIT 3) -> a :: Counter -> ToHostSniffers(eth0, SNIFFERS true, ALLOW_NONEXISTENT true);
InfiniteSource(LIMIT 2) -> b :: Counter -> ToLinuxSniffers;
Script(wait 1, print $(a.count) $(b.count), stop);
//= 3 2
